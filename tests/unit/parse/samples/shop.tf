terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

# Where the shop runs.
variable "region" {
  type        = string
  default     = "eu-central-1"
  description = "Region of all resources."
}

variable "names" {
  type = list(string)
}

locals {
  prefix = "shop-${var.region}"
  tags = {
    project = "shop"
  }
}

data "aws_ami" "base" {
  most_recent = true
  owners      = ["amazon"]
}

// Keeps the orders.
resource "aws_s3_bucket" "orders" {
  bucket = "${local.prefix}-orders"
  tags   = merge(local.tags, { kind = "orders" })
}

resource "aws_instance" "web" {
  ami           = data.aws_ami.base.id
  instance_type = "t3.small"

  root_block_device {
    volume_size = 20
  }

  depends_on = [aws_s3_bucket.orders]
}

module "network" {
  source = "./modules/network"
  names  = [for name in var.names : upper(name)]
}

/* The address of the shop. */
output "address" {
  value = aws_instance.web.public_ip
}
