(* Orders of the shop. *)
open Printf
open Shop.Prices
include Comparable

module Log = Shop.Log

(** What went wrong. *)
exception Unknown_order of int

(** The state of an order. *)
type state =
  | Open
  | Paid of float

type line = { price : float; name : string }

and order = { id : int; mutable lines : line list }

module type Store = sig
  type t
  val insert : t -> order -> unit
end

let tax_rate = 0.19

(** [round_price p] rounds to whole cents. *)
let round_price price =
  let cents = Float.round (price *. 100.) in
  cents /. 100.

(* The sum of an order. *)
let total order =
  let add sum line = sum +. line.price in
  round_price (List.fold_left add 0. order.lines)

let rec count = function
  | [] -> 0
  | _ :: rest -> 1 + count rest

and is_even n = n = 0 || is_odd (n - 1)

and is_odd n = n <> 0 && is_even (n - 1)

let ( +! ) a b = { a with lines = a.lines @ b.lines }

external now : unit -> float = "shop_now"

module Make (S : Store) = struct
  let save store order =
    Log.write "saved";
    S.insert store order
end

class basket name = object (self)
  val mutable lines = []
  method add line = lines <- line :: lines
  method label = sprintf "%s: %d" name (count lines)
end

let () = print_endline (new basket "a")#label
