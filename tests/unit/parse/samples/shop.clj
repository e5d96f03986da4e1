;; Orders of the shop.
(ns shop.orders
  "Orders and what they cost."
  (:require [clojure.string :as str]
            [shop.prices :refer [round-price]]
            shop.labels)
  (:import (java.time Instant LocalDate)
           java.util.UUID))

(def tax-rate 0.19)

(def ^:private kinds "All kinds of orders." #{:open :paid})

(defonce registry (atom {}))

(declare save)

(defprotocol Payable
  "What can be paid."
  (total [this] "The sum.")
  (pay [this amount]))

(defrecord Order [id lines]
  Payable
  (total [this]
    (round-price (reduce + (map :price lines))))
  (pay [this amount]
    (assoc this :state :paid)))

(deftype Cents [n])

(defn label
  "A text for people."
  [order]
  (str/join " " ["Order of" (total order)]))

;; Adds a line.
(defn- add-line
  ([order] (add-line order 0))
  ([order price]
   (let [line {:price price}]
     (update order :lines conj line))))

(defmacro with-order
  [order & body]
  `(let [~'order ~order] ~@body))

(defmulti describe :kind)

(defmethod describe :paid
  [order]
  (label order))

(extend-type String
  Payable
  (total [this] (parse this)))

(defn save [order]
  (swap! registry assoc (UUID/randomUUID) (Order. 1 []))
  (->Order 2 []))

(comment
  (save nil))
