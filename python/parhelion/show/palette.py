"""Colors of drawings. Those of pages are in `templates/theme.css`, those of the terminal in `terminal`."""

# Okabe and Ito's palette, safe for colour-blind readers, with lighter tints of the same hues: for files, which have no theme.
BLUE, GREY = "#0072B2", "#999999"
PALETTE = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", GREY,
           "#7FB8D8", "#F2CF7F", "#7FCEB9", "#E5BCD3", "#EAAE7F")  # fmt: skip

# Drawings inside a page: keys (hex values that nothing else uses), which become the theme's variables.
INK, MUTED, GRID = "#010101", "#010102", "#010103"
ROLES = {"own": "#010104", "baseline": "#010105", "peer": "#010106", "floor": "#010107"}
VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", **{key: role for role, key in ROLES.items()}}


def of_role(role: str) -> str:
    """The key of a contender's color."""
    return ROLES.get(role, ROLES["peer"])
