#!/usr/bin/env perl
use strict;
use warnings;

package Shop::Order;

use parent 'Shop::Record';
use Shop::Prices qw(round_price);
use constant MAX_LINES => 100;
use constant { OPEN => 0, PAID => 1 };
require Shop::Labels;

our $VERSION = '1.2';
our @EXPORT_OK = qw(total);
my $counter = 0;

=head1 NAME

Shop::Order - an order of a customer

=cut

# Makes an order.
sub new {
    my ($class, %args) = @_;
    my $self = { lines => $args{lines} || [], state => OPEN };
    $counter++;
    return bless $self, $class;
}

# The sum of all lines,
# with tax.
sub total {
    my $self = shift;
    my $sum = 0;
    foreach my $line (@{ $self->{lines} }) {
        $sum += $line->price;
    }
    return round_price($sum);
}

sub save {
    my ($self, $database) = @_;
    $database->insert('orders', $self->total());
    Shop::Log::write("saved $counter");
    my @sorted = sort_lines(@{ $self->{lines} });
    return Shop::Receipt->new(order => $self);
}

package Shop::Line {
    sub price {
        my ($self) = @_;
        return $self->{price};
    }
}

package main;

sub usage {
    print "usage: orders FILE\n";
}

usage() unless @ARGV;

1;
