"""Stage-A as an environment: photos on disk or drawn, what a model is asked about one, and how its answer is graded."""
