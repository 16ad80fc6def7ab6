"""Would another chip pay?"""
