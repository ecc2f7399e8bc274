// SPDX-License-Identifier: Apache-2.0
import SwiftParser
import SwiftSyntax

/// Parses a Tuist project description that consists of literals.
struct TuistProject {
    let path: String
    let lookup: PathLookup
    let reader: ConfigReader
    let files: any ProjectFiles

    func targets() -> [Target] {
        guard let bytes = files.bytes(path), bytes.count < 1 << 20 else { return [] }
        let tree = Parser.parse(source: String(decoding: bytes, as: UTF8.self))
        let finder = TargetFinder(viewMode: .sourceAccurate)
        finder.walk(tree)
        let converter = SourceLocationConverter(fileName: path, tree: tree)
        return finder.calls.compactMap { target($0, converter) }
    }

    private var folder: String { PathLookup.folder(path) }

    private func position(_ node: some SyntaxProtocol, _ converter: SourceLocationConverter) -> Position {
        let location = node.startLocation(converter: converter)
        return Position(line: location.line, column: location.column)
    }

    private func target(_ call: FunctionCallExprSyntax, _ converter: SourceLocationConverter) -> Target? {
        func argument(_ label: String) -> ExprSyntax? {
            call.arguments.first { $0.label?.text == label }?.expression
        }
        guard let name = argument("name")?.literalText, let product = argument("product")?.trimmedDescription else {
            return nil
        }
        var variant = Variant(isInfoKnown: false, areEntitlementsKnown: argument("entitlements") == nil)
        if let text = argument("deploymentTargets")?.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
            .literalText
        {
            variant.minimum = Version(text)
        }
        let settings = settings(argument("settings"), name)
        variant.minimum = variant.minimum ?? settings.value("IPHONEOS_DEPLOYMENT_TARGET").flatMap { Version($0) }
        let prefix = "INFOPLIST_KEY_"
        for key in settings.keys where key.hasPrefix(prefix) {
            variant.generatedInfo[String(key.dropFirst(prefix.count))] = settings.setting(key)
        }
        if let path = settings.value("CODE_SIGN_ENTITLEMENTS"), argument("entitlements") == nil {
            let found = lookup.find(PathLookup.join(folder, path))
            variant.entitlements = found.flatMap { path in
                reader.read(path).map { ConfigFile(path: path, root: $0) }
            }
            variant.areEntitlementsKnown = variant.entitlements != nil
        }
        if let info = argument("infoPlist") {
            variant.info = file(info, converter)
            variant.isInfoKnown = variant.info != nil
        }
        if let entitlements = argument("entitlements") {
            variant.entitlements = file(entitlements, converter)
            variant.areEntitlementsKnown = variant.entitlements != nil
        }
        let globs = globs(argument("sources")) + globs(argument("resources"))
        return Target(
            name: name,
            kind: Self.kind(product),
            place: Place(path, position(call, converter)),
            variants: [variant],
            files: Set(globs.flatMap(files)).sorted()
        )
    }

    /// The paths in a list of files: texts, or calls such as `.glob(pattern:)`.
    private func globs(_ node: ExprSyntax?) -> [String] {
        guard let node else { return [] }
        if let text = node.literalText { return [text] }
        if let array = node.as(ArrayExprSyntax.self) { return array.elements.flatMap { globs($0.expression) } }
        let first = node.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
        return first.map { globs($0) } ?? []
    }

    private func files(_ glob: String) -> [String] {
        let path = PathLookup.join(folder, String(glob.prefix { $0 != "*" }))
        return lookup.find(path).map { [$0] } ?? lookup.files(under: path)
    }

    /// The settings from the files of a target's configurations. Release comes last, so it overrides the others.
    private func settings(_ node: ExprSyntax?, _ name: String) -> BuildSettings {
        var settings = BuildSettings()
        guard let node else { return settings }
        settings.add([("TARGET_NAME", name, Place(path)), ("PRODUCT_NAME", name, Place(path))])
        let finder = ConfigurationFinder(viewMode: .sourceAccurate)
        finder.walk(node)
        for file in finder.paths {
            settings.add(
                ConfigurationFile(reader: reader, lookup: lookup).settings(PathLookup.join(folder, file))
            )
        }
        return settings
    }

    private static func kind(_ product: String) -> TargetKind {
        switch product.split(separator: ".").last {
        case "app": .app
        case "appClip": .clip
        case "appExtension", "extensionKitExtension": .appExtension
        case "unitTests", "uiTests": .test
        case "framework", "staticFramework", "staticLibrary", "dynamicLibrary": .library
        default: .other
        }
    }

    /// A property list from a path, `.file(path:)` or a literal dictionary.
    private func file(_ value: ExprSyntax, _ converter: SourceLocationConverter) -> ConfigFile? {
        let call = value.as(FunctionCallExprSyntax.self)
        let first = call?.arguments.first?.expression
        if let text = value.literalText ?? first?.literalText {
            guard let found = lookup.find(PathLookup.join(folder, text)) else { return nil }
            return reader.read(found).map { ConfigFile(path: found, root: $0) }
        }
        guard let dictionary = (first ?? value).as(DictionaryExprSyntax.self) else { return nil }
        return ConfigFile(path: path, root: self.value(ExprSyntax(dictionary), converter, depth: 0))
    }

    private func value(_ node: ExprSyntax, _ converter: SourceLocationConverter, depth: Int) -> ConfigValue {
        let place = position(node, converter)
        if let text = node.literalText { return ConfigValue(.string(text), place) }
        if let flag = node.as(BooleanLiteralExprSyntax.self) {
            return ConfigValue(.boolean(flag.literal.text == "true"), place)
        }
        if let array = node.as(ArrayExprSyntax.self), depth < 32 {
            return ConfigValue(.array(array.elements.map { value($0.expression, converter, depth: depth + 1) }), place)
        }
        if let call = node.as(FunctionCallExprSyntax.self), let first = call.arguments.first, depth < 32 {
            return value(first.expression, converter, depth: depth + 1)
        }
        guard case .elements(let elements)? = node.as(DictionaryExprSyntax.self)?.content, depth < 32 else {
            return ConfigValue(.other("an expression"), place)
        }
        let entries = elements.compactMap { element in
            element.key.literalText.map {
                ConfigValue.Entry(
                    key: $0,
                    position: position(element.key, converter),
                    value: value(element.value, converter, depth: depth + 1)
                )
            }
        }
        return ConfigValue(.dictionary(entries), place)
    }

    private final class ConfigurationFinder: SyntaxVisitor {
        var paths: [String] = []

        override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
            if node.label?.text == "xcconfig" {
                let call = node.expression.as(FunctionCallExprSyntax.self)
                let text = node.expression.literalText ?? call?.arguments.first?.expression.literalText
                if let text { paths.append(text) }
            }
            return .visitChildren
        }
    }

    private final class TargetFinder: SyntaxVisitor {
        var calls: [FunctionCallExprSyntax] = []

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let name = node.calledExpression.trimmedDescription
            if name == ".target" || name == "Target" || name == "Target.target" { calls.append(node) }
            return .visitChildren
        }
    }
}
