// hone/hone.hpp - the C interface for C++17: what is owned ends with its scope, errors are thrown.
//
//   hone::Program program = hone::Program::load("model.onnx");
//   program.tune({.database = "tuned.db", .seconds = 60});          // C++20; or fill the struct
//   hone::Model model = program.build({.database = "tuned.db"});
//   model.run(inputs, outputs);                                     // DLTensor * of the caller's
//
// Objects move and do not copy. What a method says of itself stands in the C header of its name.
#ifndef HONE_HONE_HPP
#define HONE_HONE_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <hone/hone.h>

namespace hone {

// What an error of the C interface says; kind() is one word, as "not_found".
class Error : public std::runtime_error {
  public:
    Error(const std::string &kind, const std::string &message)
        : std::runtime_error(message), kind_(kind) {}
    const std::string &kind() const noexcept { return kind_; }

  private:
    std::string kind_;
};

// Throws what is no success, which it takes.
inline void check(hone_error *error) {
    if (!error) return;
    const std::unique_ptr<hone_error, void (*)(hone_error *)> owned(error, hone_error_free);
    throw Error(hone_error_kind(error), hone_error_message(error));
}

namespace detail {
template <typename T, void (*End)(T *)> struct Ended {
    void operator()(T *object) const noexcept { End(object); }
};
template <typename T, void (*End)(T *)> using Owned = std::unique_ptr<T, Ended<T, End>>;

// A text of the library, as a string.
inline std::string take(char *text) {
    const Owned<char, hone_text_free> owned(text);
    return text ? std::string(text) : std::string();
}

inline std::vector<const char *> pointers(const std::vector<std::string> &texts) {
    std::vector<const char *> out;
    for (const std::string &text : texts)
        out.push_back(text.c_str());
    return out;
}

inline const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }
} // namespace detail

// A compiled model, loaded.
class Model {
  public:
    explicit Model(hone_model *owned) : model_(owned) {}
    static Model open(const std::string &path) {
        hone_model *made = nullptr;
        check(hone_model_open(path.c_str(), &made));
        return Model(made);
    }
    const hone_model_info &info() const { return *hone_model_describe(model_.get()); }
    const hone_model_entry &entry(const std::string &name = "") const {
        const hone_model_entry *found = hone_model_find(model_.get(), detail::or_null(name));
        if (!found) throw Error("not_found", "the model has no entry '" + name + "'");
        return *found;
    }
    void run(const std::vector<DLTensor *> &inputs, const std::vector<DLTensor *> &outputs,
             const std::string &name = "") const {
        const hone_model_entry &found = entry(name);
        if (inputs.size() != static_cast<size_t>(found.input_count) ||
            outputs.size() != static_cast<size_t>(found.output_count))
            throw Error("invalid", "the entry takes " + std::to_string(found.input_count) +
                                       " inputs and " + std::to_string(found.output_count) +
                                       " outputs");
        check(hone_model_run(model_.get(), &found, inputs.data(), outputs.data()));
    }

  private:
    detail::Owned<hone_model, hone_model_close> model_;
};

// What a tune found.
class Tuned {
  public:
    explicit Tuned(hone_tuned *owned) : tuned_(owned) {}
    const hone_tuned_totals &totals() const { return *hone_tuned_summary(tuned_.get()); }
    std::vector<hone_tuned_task> tasks() const {
        std::vector<hone_tuned_task> out;
        for (size_t i = 0; i < totals().task_count; i++)
            out.push_back(*hone_tuned_task_at(tuned_.get(), i));
        return out;
    }

  private:
    detail::Owned<hone_tuned, hone_tuned_free> tuned_;
};

// What the interpreter gave.
class Results {
  public:
    explicit Results(hone_results *owned) : results_(owned) {}
    size_t size() const { return hone_results_count(results_.get()); }
    const DLTensor &operator[](size_t index) const { return *hone_results_at(results_.get(), index); }

  private:
    detail::Owned<hone_results, hone_results_free> results_;
};

// A module: tensor programs and graph functions. Does not change.
class Program {
  public:
    explicit Program(hone_program *owned) : program_(owned) {}
    static Program load(const std::string &path) {
        return made([&](hone_program **out) { return hone_program_load(path.c_str(), out); });
    }
    static Program parse(const std::string &text, const std::string &name = "program") {
        return made([&](hone_program **out) {
            return hone_program_parse(text.c_str(), name.c_str(), out);
        });
    }
    const hone_program *get() const noexcept { return program_.get(); }

    std::string text() const {
        char *out = nullptr;
        check(hone_program_print(get(), &out));
        return detail::take(out);
    }
    // The faults of a program that is not well formed, one per line.
    std::string findings() const {
        char *out = nullptr;
        check(hone_program_verify(get(), &out));
        return detail::take(out);
    }
    std::string hash(const std::string &function = "") const {
        char out[33];
        check(hone_program_hash(get(), detail::or_null(function), out));
        return out;
    }
    bool operator==(const Program &other) const {
        return hone_program_equal(get(), other.get(), nullptr) != 0;
    }
    bool operator!=(const Program &other) const { return !(*this == other); }

    Program run_passes(const std::vector<std::string> &names) const {
        const std::vector<const char *> list = detail::pointers(names);
        return made([&](hone_program **out) {
            return hone_program_run_passes(get(), list.size(), list.data(), out);
        });
    }
    Program replay(const std::string &trace, const hone_replay_options &options = {}) const {
        return made([&](hone_program **out) {
            return hone_program_replay(get(), trace.c_str(), &options, out, nullptr);
        });
    }
    Program bind_sizes(const std::vector<std::string> &sizes) const {
        const std::vector<const char *> list = detail::pointers(sizes);
        return made([&](hone_program **out) {
            return hone_program_bind_sizes(get(), list.size(), list.data(), out);
        });
    }
    Program bind_parameters(const std::vector<hone_named_tensor> &values) const {
        return made([&](hone_program **out) {
            return hone_program_bind_parameters(get(), values.size(), values.data(), out);
        });
    }

    Tuned tune(const hone_tuning_options &options,
               const hone_tuning_outside *outside = nullptr) const {
        hone_tuned *out = nullptr;
        check(hone_program_tune_with(get(), &options, outside, &out));
        return Tuned(out);
    }
    // Writes files; which kernel came from where, as JSON.
    std::string compile(const hone_compilation_options &options,
                        const hone_variant_options *variants = nullptr) const {
        char *out = nullptr;
        check(hone_program_compile_with(get(), &options, variants, &out));
        return detail::take(out);
    }
    Model build(const hone_compilation_options &options = {},
                const hone_variant_options *variants = nullptr) const {
        hone_model *out = nullptr;
        check(hone_program_build_with(get(), &options, variants, &out));
        return Model(out);
    }
    Results interpret(const std::vector<DLTensor *> &arguments,
                      const std::string &function = "") const {
        hone_results *out = nullptr;
        check(hone_program_interpret(get(), detail::or_null(function), arguments.size(),
                                     arguments.data(), &out));
        return Results(out);
    }

  private:
    template <typename Make> static Program made(Make make) {
        hone_program *out = nullptr;
        check(make(&out));
        return Program(out);
    }
    detail::Owned<hone_program, hone_program_free> program_;
};

// A schedule made step by step.
class Steps {
  public:
    explicit Steps(const Program &program, const std::string &function = "", uint64_t seed = 0) {
        hone_steps *out = nullptr;
        check(hone_steps_create(program.get(), detail::or_null(function), seed, &out));
        steps_.reset(out);
    }
    Steps &add(const std::string &text) {
        check(hone_steps_add(steps_.get(), text.c_str()));
        return *this;
    }
    void add_intrin(const std::string &name, const std::string &text) {
        check(hone_steps_add_intrin(steps_.get(), name.c_str(), text.c_str()));
    }
    Program program() const {
        hone_program *out = nullptr;
        check(hone_steps_program(steps_.get(), &out));
        return Program(out);
    }
    std::string trace() const {
        char *out = nullptr;
        check(hone_steps_trace(steps_.get(), &out));
        return detail::take(out);
    }
    // What a variable of the trace stands for now, as JSON.
    std::string get(size_t number) const {
        char *out = nullptr;
        check(hone_steps_get(steps_.get(), number, &out));
        return detail::take(out);
    }
    void seed(uint64_t seed) { hone_steps_seed(steps_.get(), seed); }
    uint64_t fork_seed() { return hone_steps_fork_seed(steps_.get()); }

  private:
    detail::Owned<hone_steps, hone_steps_free> steps_;
};

} // namespace hone

#endif
