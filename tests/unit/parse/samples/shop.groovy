package shop.orders

import groovy.transform.CompileStatic
import static shop.Prices.roundPrice
import shop.store.*

/** What can be paid. */
interface Payable {
    double total()
}

trait Labelled {
    String label() { "Order of ${total()}" }
}

enum State {
    OPEN, PAID
}

/**
 * An order of a customer.
 */
@CompileStatic
class Order extends Record implements Payable, Comparable<Order> {
    static final double TAX_RATE = 0.19
    String customer
    private List<Line> lines = []

    Order(String customer) {
        this.customer = customer
    }

    // The sum of an order.
    @Override
    double total() {
        def sum = lines.sum { it.price }
        return roundPrice(sum * (1 + TAX_RATE))
    }

    def add(Line line) {
        lines << line
        log.info("added")
        this
    }

    static Order empty() {
        new Order("")
    }

    class Receipt {
        int number
    }
}

class Line {
    double price
}

def limit = 100

def report(List<Order> orders) {
    orders.each { order ->
        println order.total()
    }
}

report([Order.empty()])
