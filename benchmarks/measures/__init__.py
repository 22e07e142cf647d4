"""What is measured, one file for each kind of question, and the catalogue of all."""
