!> Orders of the shop.
module shop_orders
  use, intrinsic :: iso_fortran_env, only: real64
  use shop_prices, only: round_price
  implicit none
  private
  public :: order, total

  include 'limits.inc'

  integer, parameter :: max_lines = 100
  real(real64) :: tax_rate = 0.19

  !> What can be paid.
  type, abstract :: payable
  contains
    procedure(total_of), deferred :: amount
  end type payable

  type, extends(payable) :: order
    integer :: id
    real(real64) :: prices(max_lines)
  contains
    procedure :: amount => order_amount
    final :: clear
  end type order

  interface
    function total_of(this) result(sum)
      import :: payable
      class(payable), intent(in) :: this
      real :: sum
    end function total_of
  end interface

  interface operator(+)
    module procedure joined
  end interface

contains

  !> The sum of an order.
  pure function total(item) result(sum_of_lines)
    type(order), intent(in) :: item
    real(real64) :: sum_of_lines
    sum_of_lines = round_price(sum(item%prices) * (1 + tax_rate))
  end function total

  subroutine clear(item)
    type(order), intent(inout) :: item
    item%id = 0
    call log_message("cleared")
    call item%reset()
  end subroutine clear

end module shop_orders

program report
  use shop_orders
  type(order) :: first
  print *, total(first)
end program report

subroutine legacy(n)
  integer n
  n = n + 1
end subroutine
