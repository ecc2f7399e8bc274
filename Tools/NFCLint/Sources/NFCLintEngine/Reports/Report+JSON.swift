// SPDX-License-Identifier: Apache-2.0

extension Report {
    /// The answer if nothing could be checked, as a JSON object on one line.
    public static func failure(_ error: String, _ message: String) -> String {
        JSONOutput.line(.object([("ok", .boolean(false)), ("error", .text(error)), ("message", .text(message))]))
    }

    /// The report as a JSON object on one line.
    public var json: String { Reports([self]).json }

    fileprivate var jsonTargets: [JSONOutput.Value] {
        project.units.filter { $0.target.kind != .loose }.map(target)
    }

    fileprivate var jsonFindings: [JSONOutput.Value] { findings.map(finding) }

    private func target(_ unit: Unit) -> JSONOutput.Value {
        let variants = unit.target.variants
        let lists = Set(variants.compactMap { $0.info?.path }).sorted()
        let entitlements = Set(variants.compactMap { $0.entitlements?.path }).sorted()
        let minimum = variants.compactMap(\.minimum).min()
        return .object([
            ("name", .text(unit.target.name)),
            ("kind", .text(unit.target.kind.rawValue)),
            ("described_in", .text(path(unit.target.place.path))),
            ("info_plists", .list(lists.map { .text(path($0)) })),
            ("entitlements", .list(entitlements.map { .text(path($0)) })),
            ("minimum_ios", minimum.map { .text($0.description) } ?? .null),
            ("sources", .number(unit.target.files.count { $0.hasSuffix(".swift") })),
            ("uses_core_nfc", .boolean(unit.usesCoreNFC || unit.importsCoreNFC)),
            ("missing", .list(unit.target.missing.map { .text($0) })),
        ])
    }

    private func finding(_ finding: Finding) -> JSONOutput.Value {
        .object([
            ("id", .text(finding.id)),
            ("severity", .text(finding.severity.rawValue)),
            ("file", .text(path(finding.place.path))),
            ("line", .number(finding.place.position.line)),
            ("column", .number(finding.place.position.column)),
            ("message", .text(finding.message)),
            ("remedy", .text(finding.remedy)),
            ("proven", .boolean(finding.isProven)),
            ("fixable", .boolean(!finding.edits.isEmpty)),
            ("target", finding.target.map { .text($0) } ?? .null),
            ("page", .text(page(finding))),
        ])
    }
}

extension Reports {
    /// The reports as a JSON object on one line.
    public var json: String {
        let message = passes ? JSONOutput.Value.null : .text(summary)
        return JSONOutput.line(
            .object([
                ("ok", .boolean(passes)),
                ("error", passes ? .null : .text("findings")),
                ("message", message),
                ("counts", .object(counts.map { ($0.id, .number($0.count)) })),
                ("targets", .list(all.flatMap(\.jsonTargets))),
                ("findings", .list(all.flatMap(\.jsonFindings))),
            ])
        )
    }
}
