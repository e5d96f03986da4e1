#pragma once

namespace depot {

// Wood that carries crates.
class Pallet {
 public:
  Pallet();
  explicit Pallet(int width);
  Pallet(const Pallet& pallet);
  ~Pallet();

  int width() const;

 private:
  int width_;
};

}  // namespace depot
