/* costmodel/tree_company.h - several small forests that were trained apart, as one: what few
 * samples teach, one forest takes too literally.
 */
#ifndef HONE_COSTMODEL_TREE_COMPANY_H
#define HONE_COSTMODEL_TREE_COMPANY_H

#include "costmodel/tree_train.h"

/* As tree_train, for the samples of one tuning: the mean of a company of forests, each of which
 * sees a part of the columns at a time; of many samples one forest alone, which takes as long. */
HONE_NODISCARD hone_status tree_company_train(const train_history *history,
                                              const tree_train_options *options,
                                              tree_forest **out_forest);

#endif
