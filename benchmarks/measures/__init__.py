"""The measures, one file for each kind of question; `benchmarks.catalogue` lists them all."""
