"""Tests of the evaluation of policies on logs with late and missing outcomes."""
