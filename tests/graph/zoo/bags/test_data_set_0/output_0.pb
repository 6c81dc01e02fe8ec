B
sigmoid_20J.ÿ>Θέ―>