// SPDX-License-Identifier: Apache-2.0
// modules: TextSafety UniversalLinks
import Foundation
import UniversalLinks

/// Any association file is read or refused. It always gives the same answer about the app that opens a link, within the limit
/// of steps. Input: the first line is the link, the rest is the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let text = String(decoding: parts[0], as: UTF8.self)
    let url = try? LinkURL(text)
    guard parts.count == 2, let file = try? AssociationFile(parsing: Data(parts[1])) else { return 0 }
    let matcher = LinkMatcher(file)
    guard let url else { return 0 }
    let apps = Set(file.details.flatMap(\.apps))
    let decision = matcher.match(url, installed: apps)
    guard matcher.match(url, installed: apps) == decision else { fatalError("Two answers to one question.") }
    if case .app(let app, let position) = decision {
        guard apps.contains(app) else { fatalError("An app that is not installed.") }
        // Nil when the trace, which compares every rule, has no steps left for this one.
        guard matcher.trace(url)[position.details][position.rule].map(\.isEmpty) ?? true else {
            fatalError("The rule that decides does not match.")
        }
    }
    let explanation = matcher.explain(url, installed: apps)
    guard explanation.answer == matcher.answer(url, installed: apps) else { fatalError("Another answer, explained.") }
    let verdicts = explanation.entries.flatMap(\.verdicts)
    // A rule that was not compared may decide.
    guard verdicts.contains(.notCompared) || verdicts.contains(.matches) == (explanation.answer.app != nil) else {
        fatalError("The verdicts are not those of the answer.")
    }
    return 0
}
