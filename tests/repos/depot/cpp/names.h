#pragma once

#include "pallet.h"

// Names for programs that do not write depot:: everywhere.
using Pallet = depot::Pallet;
