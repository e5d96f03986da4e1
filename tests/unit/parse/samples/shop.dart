library shop.orders;

import 'dart:async';
import 'package:shop/prices.dart' as prices;
import '../store/database.dart' show Database;
export 'src/labels.dart';
part 'orders.g.dart';

/// The most that an order may cost.
const double maxTotal = 10000;
final registry = <String, Order>{};
int _counter = 0;

typedef Changed = void Function(Order order);

enum State { open, paid, sent }

/// What can be paid.
mixin Payable on Priced {
  bool get isPaid => false;
}

abstract class Priced {
  double total();
}

/// An order of a customer.
@immutable
class Order extends Priced with Payable implements Comparable<Order> {
  static const kind = 'order';
  final List<Line> lines;
  State state = State.open;

  Order(this.lines);
  Order.empty() : lines = const [];
  factory Order.fromJson(Map<String, dynamic> json) {
    return Order(readLines(json));
  }

  @override
  double total() {
    final sum = lines.fold<double>(0, (a, b) => a + b.price);
    return prices.round(sum);
  }

  set customer(String name) => registry[name] = this;

  Order operator +(Order other) => Order([...lines, ...other.lines]);

  Future<void> save(Database database) async {
    await database.insert(this);
  }
}

class Line {
  final double price;
  const Line(this.price);
}

extension Labels on Order {
  String label() => 'Order of ${total()}';
}

/// Reads the lines of an order.
List<Line> readLines(Map<String, dynamic> json) {
  final List<dynamic> rows = json['lines'];
  return rows.map((row) => Line(row['price'])).toList();
}

int get nextNumber => ++_counter;
