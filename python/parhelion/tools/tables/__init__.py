"""Tables of a record on the terminal, and how a command that measured ends. Figures come from `documents`; none is computed here."""
