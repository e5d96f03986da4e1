"Orders of the shop."
module Shop

using Dates
using Statistics: mean, median
import Base: show, +
import ..Prices
include("discounts.jl")

export Order, total

const TAX_RATE = 0.19
const Lines = Vector{Float64}

abstract type Priced end
primitive type Cents 64 end

@enum State open paid sent

"""
An order of a customer.
"""
struct Order <: Priced
    customer::String
    lines::Lines
    Order(customer) = new(customer, Float64[])
end

mutable struct Basket{T<:Priced}
    items::Vector{T}
end

# The sum of an order.
function total(order::Order)
    sum = reduce(+, order.lines)
    return round_price(sum * (1 + TAX_RATE))
end

"Rounds a price to whole cents."
round_price(price::Float64)::Float64 = round(price, digits = 2)

function Base.show(io::IO, order::Order)
    print(io, "Order of ", total(order))
end

+(a::Order, b::Order) = Order(a.customer)

function add!(basket::Basket{T}, item::T) where {T<:Priced}
    push!(basket.items, item)
    Prices.check(item)
    map(x -> label(x), basket.items)
end

macro logged(expression)
    return esc(expression)
end

module Reports
    using ..Shop
    report(orders) = mean(total.(orders))
end

counter = 0

end
