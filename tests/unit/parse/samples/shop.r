# Prices and orders of the shop.
library(dplyr)
require("stats")
source("R/discounts.R")

TAX_RATE <- 0.19
currency = "EUR"

#' Round a price to whole cents.
#'
#' @param price a number
round_price <- function(price, digits = 2) {
  base::round(price, digits)
}

# The sum of an order.
order_total <- function(lines) {
  add <- function(a, b) {
    a + b
  }
  total <- Reduce(add, lines$price)
  round_price(total * (1 + TAX_RATE))
}

print.order <- function(x, ...) {
  cat("Order of", order_total(x$lines), "\n")
  invisible(x)
}

`%+%` <- function(a, b) paste0(a, b)

summarise_orders <- \(orders) {
  orders |>
    dplyr::group_by(customer) |>
    dplyr::summarise(total = sum(total))
}

setClass("Customer", representation(name = "character"))

setGeneric("label", function(object) standardGeneric("label"))

setMethod("label", "Customer", function(object) {
  toupper(object@name)
})

Basket <- R6::R6Class("Basket",
  public = list(
    lines = NULL,
    initialize = function(lines) {
      self$lines <- lines
    },
    # Adds a line.
    add = function(line) {
      self$lines <- append(self$lines, list(line))
    }
  )
)
