// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import UniversalLinks

import struct Foundation.Data

/// Runs the checks of `UniversalLinks`, like `nfc links check`, and adds locations to their findings.
enum LinkChecks {
    // MARK: Associated domains

    /// The findings of one rule about an app's associated domains.
    static func domains(_ id: String, _ unit: Unit, _ findings: inout Findings) {
        guard unit.isApp, unit.usesCoreNFC || unit.target.variants.contains(where: { $0.formats != nil }) else {
            return
        }
        let links = unit.tagLinks
        let isMeant = !links.isEmpty || unit.readsLinks
        for variant in unit.target.variants {
            guard let list = variant.entitlement(Keys.domains) else {
                guard id == "DOM001", isMeant, variant.areEntitlementsKnown else { continue }
                let place = variant.entitlements.map { Place($0.path, $0.root.position) } ?? unit.target.place
                findings.add(place, "The app has no associated domains, so a tag can't open it.")
                continue
            }
            let entries = Variant.texts(list).filter { !$0.contains("$") }
            guard entries.count == Variant.texts(list).count || !["DOM002", "DOM010"].contains(id) else { continue }
            if ["DOM001", "DOM002"].contains(id), !isMeant { continue }
            let urls: [LinkURL?] = id == "DOM010" ? links : [nil]
            for url in urls {
                let all = AssociatedDomain.check(entries, url: url, isRelease: variant.isRelease)
                for found in all where found.id == id {
                    let value = list.value.array?.first {
                        $0.string.map { found.message.contains("\"\($0)\"") } == true
                    }
                    add(found, value.map(list.place) ?? list.key, &findings)
                }
            }
        }
    }

    // MARK: Association files

    /// The findings of one rule about the project's association files.
    static func associations(_ id: String, _ unit: Unit, _ findings: inout Findings) {
        for path in unit.target.files where unit.target.kind == .loose {
            let name = path.split(separator: "/").last ?? ""
            guard name.hasPrefix("apple-app-site-association"), let bytes = unit.files.bytes(path) else { continue }
            let all = unit.memory.value(path) { LinkFinding.ofName(path) + self.found(bytes, unit) }
            for found in all where found.id == id {
                add(found, place(found, path, bytes), &findings)
            }
        }
    }

    private static func found(_ bytes: [UInt8], _ unit: Unit) -> [LinkFinding] {
        do throws(AssociationFileError) {
            let file = try AssociationFile(parsing: Data(bytes))
            var result = file.check() + file.check(app: unit.options.app, opens: nil)
            for link in unit.tagLinks {
                result += file.check(app: unit.options.app, opens: link).filter { $0.id == "AASA016" }
            }
            return result
        } catch {
            return [error.finding]
        }
    }

    /// The location of the text that a finding quotes; the beginning of the file if it quotes none.
    private static func place(_ found: LinkFinding, _ path: String, _ bytes: [UInt8]) -> Place {
        let quoted = found.message.split(separator: "\"", omittingEmptySubsequences: false)
        for (index, part) in quoted.enumerated() where !index.isMultiple(of: 2) && part.utf8.count > 1 {
            let word = Array("\"\(part)\"".utf8)
            guard bytes.count >= word.count else { continue }
            for start in 0...(bytes.count - word.count) where bytes[start] == 0x22 {
                guard bytes[start..<(start + word.count)].elementsEqual(word) else { continue }
                let line = bytes[..<start].count { $0 == 0x0A } + 1
                let lineStart = bytes[..<start].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
                return Place(path, Position(line: line, column: start - lineStart + 1))
            }
        }
        return Place(path)
    }

    private static func add(_ found: LinkFinding, _ place: Place, _ findings: inout Findings) {
        let severity: NFCLintEngine.Severity =
            switch found.severity {
            case .error: .error
            case .warning: .warning
            case .information: .info
            }
        findings.add(place, found.message, severity: severity)
    }
}
