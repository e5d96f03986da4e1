// Package weigh weighs crates.
package weigh

// Weigh returns the weight of a crate with all of its parcels, in grams.
func Weigh(parcels []int, wood int) int {
	sum := wood
	for _, parcel := range parcels {
		sum += parcel
	}
	return sum
}
