/* The numbers of phl.h, in the order of the header. */
#include "parhelion/phl.h"

static const int statuses[] = {PHL_SUCCESS, PHL_ERROR_VALUE, PHL_ERROR_TYPE,
    PHL_ERROR_COMMUNICATION, PHL_ERROR_TIMEOUT, PHL_ERROR_LOST_PEER, PHL_ERROR_SYSTEM,
    PHL_ERROR_HANDLE, PHL_ERROR_INTERNAL, -1};
static const int reductions[] = {
    PHL_REPLACE, PHL_SUM, PHL_MIN, PHL_MAX, PHL_AND, PHL_OR, PHL_PROD, -1};

int number_in_c(int kind, int place) { return kind == 0 ? statuses[place] : reductions[place]; }
