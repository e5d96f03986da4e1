-- Orders of the shop and what is reported about them.
CREATE SCHEMA shop;

CREATE TYPE shop.order_state AS ENUM ('open', 'paid', 'sent');

-- One row for each customer.
CREATE TABLE shop.customers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    email text UNIQUE
);

/* One row for each order. */
CREATE TABLE IF NOT EXISTS shop.orders (
    id bigint PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customers (id),
    state text NOT NULL DEFAULT 'open',
    total numeric(12, 2) NOT NULL,
    created_at timestamptz DEFAULT now()
);

CREATE INDEX orders_by_customer ON shop.orders (customer_id);

CREATE SEQUENCE shop.invoice_numbers START WITH 1000;

-- Customers with what they still owe.
CREATE OR REPLACE VIEW shop.debtors AS
WITH unpaid AS (
    SELECT customer_id, sum(total) AS owed
    FROM shop.orders
    WHERE state = 'open'
    GROUP BY customer_id
)
SELECT c.name, round_price(u.owed) AS owed
FROM shop.customers AS c
JOIN unpaid AS u ON u.customer_id = c.id;

-- Rounds a price to whole cents.
CREATE FUNCTION round_price(price numeric) RETURNS numeric
LANGUAGE sql
AS $$
    SELECT round(price, 2);
$$;

CREATE FUNCTION stamp_order() RETURNS trigger AS $$
BEGIN
    NEW.created_at := now();
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER order_stamped
BEFORE INSERT ON shop.orders
FOR EACH ROW EXECUTE FUNCTION stamp_order();

ALTER TABLE shop.orders ADD COLUMN note text;

INSERT INTO shop.customers (name, email) VALUES ('Ada', 'ada@example.org');

UPDATE shop.orders SET state = 'paid' WHERE id = 7;

DELETE FROM shop.orders WHERE total = 0;
