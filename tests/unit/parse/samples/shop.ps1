#Requires -Version 7
using namespace System.Collections.Generic
using module ./Prices.psm1

param(
    [string] $Path = "orders.csv"
)

Import-Module ActiveDirectory
. "$PSScriptRoot/Labels.ps1"

$TaxRate = 0.19
$script:Registry = @{}

enum State {
    Open
    Paid
}

# An order of a customer.
class Order : Record {
    [string] $Customer
    hidden [Line[]] $Lines

    Order([string] $customer) {
        $this.Customer = $customer
    }

    [double] Total() {
        $sum = 0
        foreach ($line in $this.Lines) { $sum += $line.Price }
        return [Math]::Round($sum, 2)
    }

    static [Order] Empty() {
        return [Order]::new("")
    }
}

<#
.SYNOPSIS
Adds a line to an order.
#>
function Add-Line {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [Order] $Order,
        [double] $Price
    )
    Write-Verbose "adding"
    $Order.Lines += New-Line -Price $Price
    $Order.Validate()
}

filter Select-Paid { if ($_.State -eq [State]::Paid) { $_ } }

function script:Save-Order($Order) {
    $rows = Import-Csv $Path | Select-Paid
    ConvertTo-Json $rows | Out-File $Path
}

Save-Order (Add-Line $null 3)
