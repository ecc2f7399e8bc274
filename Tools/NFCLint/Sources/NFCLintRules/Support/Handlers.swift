// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// Finds the code that handles user activities in an app.
struct Handlers {
    /// The index of `application(_:continue:restorationHandler:)`; nil if missing.
    let inDelegate: Int?
    /// Whether a scene or a SwiftUI view handles user activities.
    let isInScene: Bool
    /// Whether the app has scenes.
    let hasScenes: Bool
    /// Whether the app's entry point was found, and no unknown code can handle links.
    let isComplete: Bool
    private let isInObjectiveC: Bool

    var hasAny: Bool { inDelegate != nil || isInScene || isInObjectiveC }

    init(_ unit: Unit) {
        let functions = unit.index.functions
        inDelegate = functions.firstIndex { $0.name == "application" && $0.labels.contains("continue") }
        let inSceneDelegate = functions.contains { $0.name == "scene" && $0.labels.contains("continue") }
        let names: Set<String> = ["onContinueUserActivity", "onOpenURL", "userActivities", "onOpenUrl"]
        isInScene = inSceneDelegate || unit.mentionsAnywhere(names)
        isInObjectiveC = unit.objective.contains(where: \.continuesActivities)
        let types = unit.index.types.values
        let scenes = types.contains {
            !Set($0.inherited).isDisjoint(with: ["UIWindowSceneDelegate", "UISceneDelegate"])
        }
        let isSwiftUI = types.contains { $0.inherited.contains("App") && $0.marks.contains("@main") }
        hasScenes = scenes || isSwiftUI
        let delegates = types.filter { $0.inherited.contains("UIApplicationDelegate") }
        let plain: Set<String> = ["UIResponder", "NSObject", "UIApplicationDelegate", "ObservableObject"]
        isComplete =
            isSwiftUI
            || !delegates.isEmpty && delegates.allSatisfy { type in type.inherited.contains { plain.contains($0) } }
                && !delegates.contains {
                    $0.inherited.contains("FlutterAppDelegate") || $0.inherited.contains("ExpoAppDelegate")
                }
    }
}
