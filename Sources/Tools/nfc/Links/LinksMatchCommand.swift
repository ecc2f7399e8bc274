// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TextSafety
import UniversalLinks

struct LinksMatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "match",
        abstract: "Show which app opens each link. Reads one JSON object per line.",
        discussion: """
            A line of standard input has 'aasa' (the text of the association file),
            'domain' (its site), 'entitlement' (an entry of the app's associated
            domains, or an array of them), 'url', and 'installed' (application
            identifiers).

            Examples:
              nfc links match --json < links.jsonl

            For a link that no app opens, the answer is null. This is not an error.
            Exit status: 0 when every line was answered, 1 when a line was not, 2 for
            wrong usage.
            """
    )

    @Flag(help: "Print one JSON object per link, {\"app\":…,\"rule\":…,\"why\":…}.")
    var json = false

    func run() throws {
        var lines = LineReader()
        var number = 0
        var sawError = false
        // Keeps the last matcher, because consecutive lines usually have the same file.
        var last: (text: String, matcher: Result<LinkMatcher, AssociationFileError>)?
        do throws(CommandFailure) {
            while !StandardOutput.isBroken, let block = try lines.nextBlock() {
                for line in block {
                    number += 1
                    guard !line.isEmpty else { continue }
                    do throws(CommandFailure) {
                        let question = try LinkQuestion(line)
                        let matcher = last?.text == question.aasa ? last?.matcher : nil
                        let found = matcher ?? Self.matcher(question.aasa)
                        last = (question.aasa, found)
                        let answer = question.answer(found)
                        printResult(
                            json: json,
                            answer.object,
                            ["\(question.url)  \(answer.app ?? "no app")  \(answer.why)"]
                        )
                    } catch {
                        sawError = true
                        error.print(json: json, line: number)
                    }
                }
            }
        } catch {
            sawError = true
            error.print(json: json, line: number + 1)
        }
        guard !sawError else { throw ExitCode(1) }
    }

    private static func matcher(_ text: String) -> Result<LinkMatcher, AssociationFileError> {
        Result { () throws(AssociationFileError) in
            LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        }
    }
}

/// An input line of `nfc links match`.
private struct LinkQuestion: Decodable {
    struct Entries: Decodable {
        var entries: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let entry = try? container.decode(String.self) {
                entries = [entry]
            } else {
                entries = try container.decode([String].self)
            }
        }
    }

    var aasa: String
    var domain: String
    var entitlement: Entries
    var url: String
    var installed: Set<String>

    init(_ line: ArraySlice<UInt8>) throws(CommandFailure) {
        do {
            self = try JSONDecoder().decode(LinkQuestion.self, from: Data(line))
        } catch DecodingError.keyNotFound(let key, _) {
            throw CommandFailure("bad-line", "'\(key.stringValue)' is missing.", offset: 0)
        } catch DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context) {
            let key = context.codingPath.first?.stringValue ?? "the line"
            throw CommandFailure("bad-line", "'\(key)' has the wrong type.", offset: 0)
        } catch {
            throw CommandFailure("bad-json", "The line is not a JSON object.", offset: 0)
        }
    }

    func answer(_ matcher: Result<LinkMatcher, AssociationFileError>) -> LinkAnswer {
        switch matcher {
        case .success(let matcher):
            matcher.answer(url, domain: domain, entries: entitlement.entries, installed: installed)
        case .failure(let error): LinkAnswer(app: nil, rule: nil, why: error.reason)
        }
    }
}

extension LinkAnswer {
    var object: JSONObject { ["app": app, "rule": rule, "why": why] }
}
