"""What a run that changes nothing imports: small functions over strings, which know no other part of the package."""
