(** Orders of the shop. *)

open Prices

type order

(** What went wrong. *)
exception Unknown_order of int

type state = Open | Paid of float

(** The sum of an order. *)
val total : order -> float

val round_price : float -> float

module Reports : sig
  val report : order list -> string
end

module type Store = sig
  type t
  val insert : t -> order -> unit
end
