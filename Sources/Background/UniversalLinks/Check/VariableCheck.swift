// SPDX-License-Identifier: Apache-2.0

/// Finds variables that have no effect, or another one than expected (AASA009, AASA010).
struct VariableCheck {
    let file: AssociationFile

    var findings: [LinkFinding] {
        let patterns = file.details.flatMap(\.rules).flatMap(\.patterns)
        let used = Set(patterns.flatMap { AssociationFile.Rule.variables(in: $0.text).names }.map(ExactText.init(_:)))
        var result: [LinkFinding] = []
        for variable in file.variables where SubstitutionVariables.isName(variable.name) {
            let name = variable.name
            func add(_ text: String) {
                result.append(LinkFinding("AASA010", .warning, "The variable \"\(name)\" \(text)"))
            }
            if variable.values.isEmpty { add("has no values, so patterns that name it match nothing.") }
            if !used.contains(ExactText(name)) { add("is not used by any pattern.") }
            if SubstitutionVariables.isPredefined(name) { add("hides the one of this name that every file has.") }
        }
        return result
    }
}
