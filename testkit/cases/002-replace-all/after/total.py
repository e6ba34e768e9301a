def total(price):
    price = round(price, 2)
    return Amount(price)
