"""Who owns what, and arrays that lie so: Cartesian and indexed domains, conversion from other libraries' index maps. Sends no ghosts."""
