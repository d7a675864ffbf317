// All of the public C++ interface.
#pragma once

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/element.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/types.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/ghosts/ghost_array.hpp"
#include "parhelion/ghosts/rotation.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "parhelion/plan/array.hpp"
#include "parhelion/plan/field.hpp"
