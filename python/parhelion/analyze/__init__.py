"""Analysis of records: statistics, results per case, comparison, history, likely causes. Does not print or start ranks."""
