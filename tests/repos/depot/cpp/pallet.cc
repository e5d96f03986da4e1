#include "pallet.h"

namespace depot {

Pallet::Pallet() : Pallet(120) {}

Pallet::Pallet(int width) : width_(width) {}

Pallet::Pallet(const Pallet& pallet) : Pallet(pallet.width_) {}

Pallet::~Pallet() = default;

int Pallet::width() const { return width_; }

}  // namespace depot
