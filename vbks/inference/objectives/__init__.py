"""What is maximised: exact evidences, the collapsed bound, and the bound of minibatches."""
