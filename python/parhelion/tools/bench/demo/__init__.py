"""`parhelion demo`: two short benchmarks and a report."""
