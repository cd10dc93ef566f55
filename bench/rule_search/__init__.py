"""Rule search on simulated reviewers: worlds with planted conventions, a policy of known error rates, in memory."""
