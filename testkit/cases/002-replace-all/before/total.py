def total(amount):
    amount = round(amount, 2)
    return Amount(amount)
