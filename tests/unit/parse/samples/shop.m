// Orders of the shop.
#import <Foundation/Foundation.h>
#import "Prices.h"
@import UIKit;

#define MAX_LINES 100
#define ROUNDED(x) roundPrice(x)

@class Database;

typedef void (^Changed)(double total);

typedef NS_ENUM(NSInteger, State) {
    StateOpen,
    StatePaid,
};

extern const double kTaxRate;
static NSString *const kKind = @"order";

struct Point {
    int x;
};

/// What can be paid.
@protocol Payable <NSObject>
- (double)total;
@end

/**
 * An order of a customer.
 */
@interface Order : NSObject <Payable>
@property (nonatomic, copy) NSString *customer;
@property (nonatomic, strong) NSArray<Line *> *lines;
- (instancetype)initWithCustomer:(NSString *)customer lines:(NSArray *)lines;
+ (Order *)emptyOrder;
@end

@interface Order (Labels)
- (NSString *)label;
@end

// Rounds to whole cents.
static double roundPrice(double price) {
    return round(price * 100) / 100;
}

@implementation Order

+ (Order *)emptyOrder {
    return [[Order alloc] initWithCustomer:@"" lines:@[]];
}

- (instancetype)initWithCustomer:(NSString *)customer lines:(NSArray *)lines {
    self = [super init];
    if (self) {
        _customer = [customer copy];
    }
    return self;
}

// The sum of an order.
- (double)total {
    double sum = 0;
    for (Line *line in self.lines) {
        sum += line.price;
    }
    return roundPrice(sum * (1 + kTaxRate));
}

- (void)saveTo:(Database *)database {
    [database insert:self];
    dispatch_async(dispatch_get_main_queue(), ^{ NSLog(@"saved"); });
}

@end
