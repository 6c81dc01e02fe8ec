/* tools/doctor/doctor_cards.c - NVIDIA cards, by what reaches them, and whether their candidates
 * are held. */
#include "runner/runner.h"
#include "runtime/cuda/device_cuda.h"
#include "support/core/strbuf.h"
#include "tools/cli/cli_table.h"
#include "tools/doctor/doctor.h"

static void say_card(hone_checkup *checkup, const hone_cuda_facts *card) {
    hone_target target;
    hone_str text = {0};
    hone_status st = hone_cuda_target(card, &target);
    if (!st) hone_target_print(&target, &text);
    hone_doctor_say(checkup, "card", st ? HONE_DOCTOR_WARNING : HONE_DOCTOR_OK,
                    hone_status_message(st), "%s, %sB: %s", card->name,
                    hone_text_of_count(checkup->arena, (double)card->memory_bytes),
                    hone_str_text(&text));
    hone_status_free(st);
    hone_str_deinit(&text);
}

/* An executor opens the first card, and says what holds it. */
static void say_layers(hone_checkup *checkup) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    hone_runner *runner = NULL;
    const hone_runner_local_options options = {.device = "cuda"};
    hone_status st = hone_runner_create_local(&options, &runner);
    if (!st) st = hone_runner_local_layers(runner, layers);
    if (st) {
        hone_doctor_say(checkup, "on cards", HONE_DOCTOR_PROBLEM,
                        "candidates for cards are not run here", "%s", hone_status_message(st));
    } else {
        hone_doctor_say(checkup, "on cards", HONE_DOCTOR_OK, NULL, "candidates are held by %s",
                        layers);
    }
    hone_status_free(st);
    hone_runner_destroy(runner);
}

void hone_doctor_cards(hone_checkup *checkup) {
    hone_cuda_facts cards[HONE_CUDA_MAX_CARDS];
    int32_t count;
    hone_status st = hone_cuda_list(cards, &count);
    if (st || count == 0) {
        hone_doctor_say(checkup, "CUDA", HONE_DOCTOR_NOTE, NULL, "%s",
                        st ? hone_status_message(st) : "no NVIDIA card");
        hone_status_free(st);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        say_card(checkup, &cards[i]);
    say_layers(checkup);
}
