"""From records to findings: statistics, results per case, comparison, history, likely causes. Nothing here prints or starts ranks."""
