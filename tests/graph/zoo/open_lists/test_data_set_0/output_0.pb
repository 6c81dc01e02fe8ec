Bconcatfromsequence_23J@!?…Ò>…ù1?-Žï>L“>»²d>1æ?EXo?Ù–[¿C·¾«V?
¾à·q¾+Vû<][°¾O24¿