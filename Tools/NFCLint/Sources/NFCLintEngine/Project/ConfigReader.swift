// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads each configuration file once, and records damaged files.
final class ConfigReader: @unchecked Sendable {
    // Guarded by `lock`.
    private var cache: [String: ConfigValue?] = [:]
    private var failures: [String: FormatError] = [:]
    private var truncations: [String: FormatError] = [:]
    private let lock = NSLock()
    private let files: any ProjectFiles

    private let listed: Set<String>

    init(_ files: any ProjectFiles) {
        self.files = files
        listed = Set(files.paths)
    }

    /// The bytes of a file that is parsed line by line.
    func bytes(_ path: String) -> [UInt8]? {
        let bytes = files.bytes(path)
        if bytes == nil {
            lock.lock()
            defer { lock.unlock() }
            failures[path] = missing(path)
        }
        return bytes
    }

    /// The error for a file that exists but can't be read; nil if there is no such file.
    private func missing(_ path: String) -> FormatError? {
        listed.contains(path) ? FormatError("The file can't be read, or is larger than 8 MB.", Position()) : nil
    }

    /// The parsed contents of a file; nil if the file is missing or damaged.
    func read(_ path: String) -> ConfigValue? {
        lock.lock()
        defer { lock.unlock() }
        if let cached = cache[path] { return cached }
        var value: ConfigValue?
        if let bytes = files.bytes(path) {
            do throws(FormatError) {
                value = try Self.parse(path, bytes)
                if path.hasSuffix(".plist") || path.hasSuffix(".entitlements") {
                    var limits = ConfigLimits()
                    value = value.map { limits.cut($0) }
                    truncations[path] = limits.problem
                }
            } catch {
                failures[path] = error
            }
        } else {
            failures[path] = missing(path)
        }
        cache[path] = .some(value)
        return value
    }

    /// The files that could not be read completely, with the reasons.
    var broken: [UnreadFile] {
        lock.lock()
        defer { lock.unlock() }
        let whole = failures.map { UnreadFile(Place($0.key, $0.value.position), $0.value.reason) }
        return whole + truncations.map { UnreadFile(Place($0.key, $0.value.position), $0.value.reason, isWhole: false) }
    }

    private static func parse(_ path: String, _ bytes: [UInt8]) throws(FormatError) -> ConfigValue {
        if path.hasSuffix(".yml") || path.hasSuffix(".yaml") { return try YAMLText.read(bytes) }
        if path.hasSuffix(".xcstrings") || path.hasSuffix(".json") { return try ConfigValue.json(bytes) }
        // Foundation reads no texts from an empty file.
        if path.hasSuffix(".strings"), bytes.isEmpty { return ConfigValue(.dictionary([])) }
        return try ConfigFile.propertyList(bytes)
    }
}
