"""A measurement, from its options to its record: start the ranks, follow the record. The ranks time; nothing here does."""
