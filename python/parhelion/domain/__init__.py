"""Cartesian and indexed domains, their arrays, and conversion from other libraries' index maps."""
