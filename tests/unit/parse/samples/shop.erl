%% Orders of the shop.
-module(shop).
-behaviour(gen_server).

-export([start_link/1, total/1, add/2]).
-import(lists, [foldl/3, map/2]).
-include("shop.hrl").
-include_lib("kernel/include/logger.hrl").

-define(MAX_LINES, 100).
-define(ROUNDED(Price), round_price(Price)).

-type state() :: open | paid.
-opaque cents() :: integer().
-export_type([state/0, cents/0]).

%% One order.
-record(order, {id :: integer(), lines = [] :: [line()]}).

-callback label(state()) -> string().

%% @doc Starts the server.
-spec start_link(atom()) -> {ok, pid()}.
start_link(Name) ->
    gen_server:start_link({local, Name}, ?MODULE, [], []).

% The sum of an order.
total(#order{lines = Lines}) ->
    Sum = foldl(fun(Price, Total) -> Price + Total end, 0, Lines),
    ?ROUNDED(Sum);
total(Lines) when is_list(Lines) ->
    total(#order{id = 0, lines = Lines}).

add(Order, Price) ->
    ?LOG_INFO("added"),
    Checked = check(Price),
    Order#order{lines = [Checked | Order#order.lines]}.

round_price(Price) -> Price div 100.

check(Price) ->
    case Price of
        0 -> error(no_price);
        _ -> map(fun prices:clean/1, [Price])
    end.

init([]) ->
    {ok, []}.

handle_call(total, _From, State) ->
    {reply, total(State), State};
handle_call(_Request, _From, State) ->
    {reply, ok, State}.

-ifdef(TEST).
total_test() ->
    3 = total([1, 2]).
-endif.
